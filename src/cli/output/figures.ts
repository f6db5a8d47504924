/** `1,204`. */
export function count(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}

/** `1 request`, `1,204 requests`; `many` for plurals that are not `one` with an s. */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${Math.round(value) === 1 ? one : many}`;
}

/** `4.2 s`, `95 s`, `12 min`. */
export function duration(seconds: number): string {
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 120) return `${Math.round(seconds)} s`;
  return `${Math.round(seconds / 60)} min`;
}

/** `820 B`, `4.1 kB`, `12.0 MB`, in powers of 1,000. */
export function bytes(value: number): string {
  if (value < 1000) return `${value} B`;
  const power = Math.min(3, Math.floor(Math.log10(value) / 3));
  return `${(value / 1000 ** power).toFixed(1)} ${["kB", "MB", "GB"][power - 1]}`;
}

/** The vectors of a graph, by its quantization. */
export const graphOf = {
  none: "vectors as they are (none)",
  int8: "vectors of 8 bits (int8)",
  int4: "vectors of 4 bits (int4)",
} as const;
