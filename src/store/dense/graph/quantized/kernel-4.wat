;; Dot products of a query with vectors of 4-bit numbers from -7 to 7, two in a byte. A row is its numbers, padded with zeros to
;; a multiple of 32, and behind them its scale, a 32-bit float. The query is unpacked: numbers of 16 bits. Everything
;; called `query`, `row`, `rows`, `slots`, `to` and `out` is a byte address; `stride` is the distance between two rows in bytes, and
;; `bytes` the padded length of a row's numbers, a quarter of that of the query's, and not 0.
;;
;; Of 32 numbers, which 16 bytes hold as 8 words of 16 bits, the first 8 stand in the lowest 4 bits of the words, the next 8
;; in the 4 bits above, and so on: two shifts make numbers of 16 bits of each 8.
(module
  (import "host" "memory" (memory 1 65536 shared))

  (func $total (param $sum v128) (result i32)
    (i32.add
      (i32.add (i32x4.extract_lane 0 (local.get $sum)) (i32x4.extract_lane 1 (local.get $sum)))
      (i32.add (i32x4.extract_lane 2 (local.get $sum)) (i32x4.extract_lane 3 (local.get $sum)))))

  ;; Writes the numbers of a row as those of a query.
  (func (export "unpack") (param $row i32) (param $to i32) (param $bytes i32)
    (local $end i32) (local $packed v128)
    (local.set $end (i32.add (local.get $row) (local.get $bytes)))
    (loop $nextStep
      (local.set $packed (v128.load (local.get $row)))
      (v128.store offset=0 (local.get $to) (i16x8.shr_s (i16x8.shl (local.get $packed) (i32.const 12)) (i32.const 12)))
      (v128.store offset=16 (local.get $to) (i16x8.shr_s (i16x8.shl (local.get $packed) (i32.const 8)) (i32.const 12)))
      (v128.store offset=32 (local.get $to) (i16x8.shr_s (i16x8.shl (local.get $packed) (i32.const 4)) (i32.const 12)))
      (v128.store offset=48 (local.get $to) (i16x8.shr_s (local.get $packed) (i32.const 12)))
      (local.set $row (i32.add (local.get $row) (i32.const 16)))
      (local.set $to (i32.add (local.get $to) (i32.const 64)))
      (br_if $nextStep (i32.lt_u (local.get $row) (local.get $end)))))

  ;; The dot product of the query's numbers with a row, by the row's scale.
  (func $similarity (param $query i32) (param $row i32) (param $bytes i32) (result f32)
    (local $end i32) (local $packed v128)
    ;; Two sums that do not wait for each other.
    (local $sum0 v128) (local $sum1 v128)
    (local.set $end (i32.add (local.get $row) (local.get $bytes)))
    (loop $nextStep
      (local.set $packed (v128.load (local.get $row)))
      (local.set $sum0 (i32x4.add (local.get $sum0) (i32x4.dot_i16x8_s (v128.load offset=0 (local.get $query))
        (i16x8.shr_s (i16x8.shl (local.get $packed) (i32.const 12)) (i32.const 12)))))
      (local.set $sum1 (i32x4.add (local.get $sum1) (i32x4.dot_i16x8_s (v128.load offset=16 (local.get $query))
        (i16x8.shr_s (i16x8.shl (local.get $packed) (i32.const 8)) (i32.const 12)))))
      (local.set $sum0 (i32x4.add (local.get $sum0) (i32x4.dot_i16x8_s (v128.load offset=32 (local.get $query))
        (i16x8.shr_s (i16x8.shl (local.get $packed) (i32.const 4)) (i32.const 12)))))
      (local.set $sum1 (i32x4.add (local.get $sum1) (i32x4.dot_i16x8_s (v128.load offset=48 (local.get $query))
        (i16x8.shr_s (local.get $packed) (i32.const 12)))))
      (local.set $row (i32.add (local.get $row) (i32.const 16)))
      (local.set $query (i32.add (local.get $query) (i32.const 64)))
      (br_if $nextStep (i32.lt_u (local.get $row) (local.get $end))))
    (f32.mul
      (f32.convert_i32_s (call $total (i32x4.add (local.get $sum0) (local.get $sum1))))
      (f32.load (local.get $row))))

  ;; Writes the similarity of the query to `count` rows, whose slots stand in a list, to `out`. `count` is a multiple of 4, and
  ;; not 0. All rows are touched first, and four at a time are read side by side, as in kernel.wat.
  (func (export "similarities")
    (param $query i32) (param $slots i32) (param $count i32) (param $out i32)
    (param $rows i32) (param $stride i32) (param $bytes i32)
    (local $end i32) (local $at i32) (local $rowEnd i32) (local $touched i32)
    (local $packed v128) (local $left0 v128) (local $left1 v128) (local $left2 v128) (local $left3 v128)
    (local $row0 i32) (local $row1 i32) (local $row2 i32) (local $row3 i32)
    (local $sum0 v128) (local $sum1 v128) (local $sum2 v128) (local $sum3 v128)
    (local.set $end (i32.add (local.get $slots) (i32.shl (local.get $count) (i32.const 2))))

    (local.set $at (local.get $slots))
    (loop $nextTouched
      (local.set $touched (i32.or (local.get $touched)
        (i32.load (i32.add (local.get $rows) (i32.mul (i32.load (local.get $at)) (local.get $stride))))))
      (local.set $at (i32.add (local.get $at) (i32.const 4)))
      (br_if $nextTouched (i32.lt_u (local.get $at) (local.get $end))))
    ;; A compiler might leave out loads that nothing needs. A similarity takes this place below.
    (i32.store (local.get $out) (local.get $touched))

    (loop $nextRows
      (local.set $row0 (i32.add (local.get $rows) (i32.mul (i32.load offset=0 (local.get $slots)) (local.get $stride))))
      (local.set $sum0 (v128.const i32x4 0 0 0 0))
      (local.set $row1 (i32.add (local.get $rows) (i32.mul (i32.load offset=4 (local.get $slots)) (local.get $stride))))
      (local.set $sum1 (v128.const i32x4 0 0 0 0))
      (local.set $row2 (i32.add (local.get $rows) (i32.mul (i32.load offset=8 (local.get $slots)) (local.get $stride))))
      (local.set $sum2 (v128.const i32x4 0 0 0 0))
      (local.set $row3 (i32.add (local.get $rows) (i32.mul (i32.load offset=12 (local.get $slots)) (local.get $stride))))
      (local.set $sum3 (v128.const i32x4 0 0 0 0))
      (local.set $rowEnd (i32.add (local.get $row0) (local.get $bytes)))
      (local.set $at (local.get $query))
      (loop $nextStep
        (local.set $left0 (v128.load offset=0 (local.get $at)))
        (local.set $left1 (v128.load offset=16 (local.get $at)))
        (local.set $left2 (v128.load offset=32 (local.get $at)))
        (local.set $left3 (v128.load offset=48 (local.get $at)))
        (local.set $packed (v128.load (local.get $row0)))
        (local.set $sum0 (i32x4.add (local.get $sum0) (i32x4.dot_i16x8_s (local.get $left0)
          (i16x8.shr_s (i16x8.shl (local.get $packed) (i32.const 12)) (i32.const 12)))))
        (local.set $sum0 (i32x4.add (local.get $sum0) (i32x4.dot_i16x8_s (local.get $left1)
          (i16x8.shr_s (i16x8.shl (local.get $packed) (i32.const 8)) (i32.const 12)))))
        (local.set $sum0 (i32x4.add (local.get $sum0) (i32x4.dot_i16x8_s (local.get $left2)
          (i16x8.shr_s (i16x8.shl (local.get $packed) (i32.const 4)) (i32.const 12)))))
        (local.set $sum0 (i32x4.add (local.get $sum0) (i32x4.dot_i16x8_s (local.get $left3)
          (i16x8.shr_s (local.get $packed) (i32.const 12)))))
        (local.set $row0 (i32.add (local.get $row0) (i32.const 16)))
        (local.set $packed (v128.load (local.get $row1)))
        (local.set $sum1 (i32x4.add (local.get $sum1) (i32x4.dot_i16x8_s (local.get $left0)
          (i16x8.shr_s (i16x8.shl (local.get $packed) (i32.const 12)) (i32.const 12)))))
        (local.set $sum1 (i32x4.add (local.get $sum1) (i32x4.dot_i16x8_s (local.get $left1)
          (i16x8.shr_s (i16x8.shl (local.get $packed) (i32.const 8)) (i32.const 12)))))
        (local.set $sum1 (i32x4.add (local.get $sum1) (i32x4.dot_i16x8_s (local.get $left2)
          (i16x8.shr_s (i16x8.shl (local.get $packed) (i32.const 4)) (i32.const 12)))))
        (local.set $sum1 (i32x4.add (local.get $sum1) (i32x4.dot_i16x8_s (local.get $left3)
          (i16x8.shr_s (local.get $packed) (i32.const 12)))))
        (local.set $row1 (i32.add (local.get $row1) (i32.const 16)))
        (local.set $packed (v128.load (local.get $row2)))
        (local.set $sum2 (i32x4.add (local.get $sum2) (i32x4.dot_i16x8_s (local.get $left0)
          (i16x8.shr_s (i16x8.shl (local.get $packed) (i32.const 12)) (i32.const 12)))))
        (local.set $sum2 (i32x4.add (local.get $sum2) (i32x4.dot_i16x8_s (local.get $left1)
          (i16x8.shr_s (i16x8.shl (local.get $packed) (i32.const 8)) (i32.const 12)))))
        (local.set $sum2 (i32x4.add (local.get $sum2) (i32x4.dot_i16x8_s (local.get $left2)
          (i16x8.shr_s (i16x8.shl (local.get $packed) (i32.const 4)) (i32.const 12)))))
        (local.set $sum2 (i32x4.add (local.get $sum2) (i32x4.dot_i16x8_s (local.get $left3)
          (i16x8.shr_s (local.get $packed) (i32.const 12)))))
        (local.set $row2 (i32.add (local.get $row2) (i32.const 16)))
        (local.set $packed (v128.load (local.get $row3)))
        (local.set $sum3 (i32x4.add (local.get $sum3) (i32x4.dot_i16x8_s (local.get $left0)
          (i16x8.shr_s (i16x8.shl (local.get $packed) (i32.const 12)) (i32.const 12)))))
        (local.set $sum3 (i32x4.add (local.get $sum3) (i32x4.dot_i16x8_s (local.get $left1)
          (i16x8.shr_s (i16x8.shl (local.get $packed) (i32.const 8)) (i32.const 12)))))
        (local.set $sum3 (i32x4.add (local.get $sum3) (i32x4.dot_i16x8_s (local.get $left2)
          (i16x8.shr_s (i16x8.shl (local.get $packed) (i32.const 4)) (i32.const 12)))))
        (local.set $sum3 (i32x4.add (local.get $sum3) (i32x4.dot_i16x8_s (local.get $left3)
          (i16x8.shr_s (local.get $packed) (i32.const 12)))))
        (local.set $row3 (i32.add (local.get $row3) (i32.const 16)))
        (local.set $at (i32.add (local.get $at) (i32.const 64)))
        (br_if $nextStep (i32.lt_u (local.get $row0) (local.get $rowEnd))))
      (f32.store offset=0 (local.get $out) (f32.mul
        (f32.convert_i32_s (call $total (local.get $sum0))) (f32.load (local.get $row0))))
      (f32.store offset=4 (local.get $out) (f32.mul
        (f32.convert_i32_s (call $total (local.get $sum1))) (f32.load (local.get $row1))))
      (f32.store offset=8 (local.get $out) (f32.mul
        (f32.convert_i32_s (call $total (local.get $sum2))) (f32.load (local.get $row2))))
      (f32.store offset=12 (local.get $out) (f32.mul
        (f32.convert_i32_s (call $total (local.get $sum3))) (f32.load (local.get $row3))))
      (local.set $slots (i32.add (local.get $slots) (i32.const 16)))
      (local.set $out (i32.add (local.get $out) (i32.const 16)))
      (br_if $nextRows (i32.lt_u (local.get $slots) (local.get $end)))))

  ;; 1 if the query is more similar than `limit` to any of the rows, whose slots stand in a list; else 0.
  (func (export "anyAbove")
    (param $query i32) (param $slots i32) (param $count i32) (param $limit f32)
    (param $rows i32) (param $stride i32) (param $bytes i32) (result i32)
    (local $end i32)
    (local.set $end (i32.add (local.get $slots) (i32.shl (local.get $count) (i32.const 2))))
    (block $done
      (loop $nextRow
        (br_if $done (i32.ge_u (local.get $slots) (local.get $end)))
        (if
          (f32.gt
            (call $similarity
              (local.get $query)
              (i32.add (local.get $rows) (i32.mul (i32.load (local.get $slots)) (local.get $stride)))
              (local.get $bytes))
            (local.get $limit))
          (then (return (i32.const 1))))
        (local.set $slots (i32.add (local.get $slots) (i32.const 4)))
        (br $nextRow)))
    (i32.const 0)))
