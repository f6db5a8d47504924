import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { parse, walk } from "./syntax-tree.js";

/** Finds the tests that can notice a change of a file, by what they import. */
export class RelatedTests {
  readonly #root: string;
  readonly #imports = new Map<string, readonly string[]>();
  /** Distance in imports from each test to each file that it reaches. */
  readonly #distances = new Map<string, ReadonlyMap<string, number>>();
  readonly #tests: readonly string[];

  /** All paths are relative to `root`, which holds `dist` and `test`. */
  constructor(root: string, tests: readonly string[]) {
    this.#root = root;
    this.#tests = tests;
  }

  /**
   * Tests that reach `file`, best first: those that import it themselves, then those of its room and of the rooms around
   * it, then others; nearest first, then those that reach the fewest files.
   */
  of(file: string): string[] {
    const room = `${dirname(file).replace(/^dist/, "test")}/`;
    const isNear = (test: string) =>
      test.startsWith(room) || (dirname(test) !== "test" && room.startsWith(`${dirname(test)}/`));
    return this.#tests
      .map((test) => {
        const distances = this.#distancesFrom(test);
        return { test, distance: distances.get(file) ?? Infinity, reach: distances.size };
      })
      .filter(({ distance }) => distance < Infinity)
      .map((one) => ({ ...one, rank: one.distance === 1 ? 0 : isNear(one.test) ? 1 : 2 }))
      .toSorted(
        (a, b) => a.rank - b.rank || a.distance - b.distance || a.reach - b.reach || a.test.localeCompare(b.test),
      )
      .map(({ test }) => test);
  }

  #distancesFrom(test: string): ReadonlyMap<string, number> {
    let distances = this.#distances.get(test) as Map<string, number> | undefined;
    if (distances) return distances;
    distances = new Map([[test, 0]]);
    // A map is walked in the order of insertion, so this is breadth first.
    for (const [file, distance] of distances) {
      for (const imported of this.#importsOf(file)) if (!distances.has(imported)) distances.set(imported, distance + 1);
    }
    this.#distances.set(test, distances);
    return distances;
  }

  #importsOf(file: string): readonly string[] {
    const known = this.#imports.get(file);
    if (known) return known;
    const code = readFileSync(join(this.#root, file), "utf8");
    const named = [...walk(parse(code, file.endsWith(".ts") ? "ts" : "js"))].flatMap(({ type, importKind, value }) =>
      type === "Literal" && importKind !== "type" && typeof value === "string" ? [value] : [],
    );
    const imports = [...new Set(named.flatMap((name) => this.#fileOf(name, file)))];
    this.#imports.set(file, imports);
    return imports;
  }

  /**
   * Any string that names a file counts as an import of it: so do the files that threads and processes are started from.
   * Tests are written against `src` and run against `dist`.
   */
  #fileOf(name: string, from: string): string[] {
    if (name === "citewell") return this.#existing("dist/index.js");
    if (/^dist\/.+\.js$/.test(name)) return this.#existing(name);
    if (!/^\.\.?\/.+\.m?js$/.test(name)) return [];
    const path = relative(this.#root, resolve(this.#root, dirname(from), name)).replace(/^src\//, "dist/");
    return this.#existing(path, path.replace(/js$/, "ts"));
  }

  #existing(...paths: readonly string[]): string[] {
    return paths.filter((path) => existsSync(join(this.#root, path))).slice(0, 1);
  }
}
