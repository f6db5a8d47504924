/** A time of a recording as its player shows it: `12:34`, `1:02:03`. */
export function clockTime(seconds: number): string {
  const units = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, Math.floor(seconds % 60)];
  const shown = units[0] === 0 ? units.slice(1) : units;
  return shown.map((unit, index) => (index === 0 ? `${unit}` : `${unit}`.padStart(2, "0"))).join(":");
}
