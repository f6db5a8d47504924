import type { OperationName } from "../../contract/operations.js";
import { resolve } from "../../options.js";
import { seededRandom } from "../../text/random.js";
import { FaultOptions, type FaultSettings, type ScriptedAnswer } from "./fault-options.js";

/** Faults that may be set while the service runs. One belongs to one service. */
export class Faults {
  #settings: FaultSettings;
  #random = seededRandom(1);
  /** Scripted answers with what is left of their times, in order. */
  #left: { readonly answer: ScriptedAnswer; times: number }[] = [];

  /** @throws {OptionsError} when an option is unknown or out of range. */
  constructor(options: FaultOptions) {
    this.#settings = this.replace(options);
  }

  get settings(): FaultSettings {
    return this.#settings;
  }

  /** The next number that the seed draws, from 0 to below 1. */
  random(): number {
    return this.#random();
  }

  /** The settings with the scripted answers that are still to come. */
  remaining(): FaultSettings {
    return { ...this.#settings, next: this.#left.map(({ answer, times }) => ({ ...answer, times })) };
  }

  replace(options: FaultOptions): FaultSettings {
    this.#settings = resolve("faults", FaultOptions, options);
    this.#random = seededRandom(this.#settings.seed);
    this.#left = this.#settings.next.map((answer) => ({ answer, times: answer.times }));
    return this.#settings;
  }

  /** The scripted answer to the request that has come in for an operation, if there is one; uses it up once. */
  take(operation: OperationName): ScriptedAnswer | undefined {
    const found = this.#left.find(
      ({ answer }) =>
        (answer.operation === undefined || answer.operation === operation) &&
        (answer.probability === 1 || this.#random() < answer.probability),
    );
    if (found === undefined) return undefined;
    found.times--;
    if (found.times === 0) this.#left.splice(this.#left.indexOf(found), 1);
    return found.answer;
  }
}
