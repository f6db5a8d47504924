;; Writes the dot products of `query` with `count` rows to `out`. The rows lie one after another from `rows` on, each
;; `stride` bytes long. Everything but `count` is a byte address or a length in bytes; `count` and `stride` are not 0,
;; and `stride` is a multiple of 64.
(module
  (import "host" "memory" (memory 0))
  (func (export "run")
    (param $query i32) (param $row i32) (param $out i32) (param $count i32) (param $stride i32)
    (local $at i32) (local $end i32)
    ;; Four sums that do not wait for each other keep the processor's adders busy.
    (local $sum0 v128) (local $sum1 v128) (local $sum2 v128) (local $sum3 v128)

    (local.set $end (i32.add (local.get $query) (local.get $stride)))
    (loop $nextRow
      (local.set $at (local.get $query))
      (local.set $sum0 (v128.const i32x4 0 0 0 0))
      (local.set $sum1 (v128.const i32x4 0 0 0 0))
      (local.set $sum2 (v128.const i32x4 0 0 0 0))
      (local.set $sum3 (v128.const i32x4 0 0 0 0))

      ;; Sixteen floats a step, of the query and of the row.
      (loop $nextStep
        (local.set $sum0 (f32x4.add (local.get $sum0)
          (f32x4.mul (v128.load align=4 (local.get $at)) (v128.load align=4 (local.get $row)))))
        (local.set $sum1 (f32x4.add (local.get $sum1)
          (f32x4.mul (v128.load offset=16 align=4 (local.get $at)) (v128.load offset=16 align=4 (local.get $row)))))
        (local.set $sum2 (f32x4.add (local.get $sum2)
          (f32x4.mul (v128.load offset=32 align=4 (local.get $at)) (v128.load offset=32 align=4 (local.get $row)))))
        (local.set $sum3 (f32x4.add (local.get $sum3)
          (f32x4.mul (v128.load offset=48 align=4 (local.get $at)) (v128.load offset=48 align=4 (local.get $row)))))
        (local.set $row (i32.add (local.get $row) (i32.const 64)))
        (local.set $at (i32.add (local.get $at) (i32.const 64)))
        (br_if $nextStep (i32.lt_u (local.get $at) (local.get $end))))

      (local.set $sum0 (f32x4.add (local.get $sum0) (local.get $sum1)))
      (local.set $sum0 (f32x4.add (local.get $sum0) (local.get $sum2)))
      (local.set $sum0 (f32x4.add (local.get $sum0) (local.get $sum3)))
      (f32.store (local.get $out)
        (f32.add (f32x4.extract_lane 0 (local.get $sum0))
          (f32.add (f32x4.extract_lane 1 (local.get $sum0))
            (f32.add (f32x4.extract_lane 2 (local.get $sum0)) (f32x4.extract_lane 3 (local.get $sum0))))))
      (local.set $out (i32.add (local.get $out) (i32.const 4)))
      (local.set $count (i32.sub (local.get $count) (i32.const 1)))
      (br_if $nextRow (local.get $count)))))
