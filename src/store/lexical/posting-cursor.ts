import { blockLength, type PostingList } from "./posting-list.js";

/** Moves forward through a list, and unpacks only the blocks that it stops in. */
export class PostingCursor {
  /** The slots of the current block. */
  readonly slots = new Int32Array(blockLength);
  /** Number of postings in the current block; 0 before the first and behind the last one. */
  count = 0;
  /** Index in the current block. */
  at = 0;
  readonly #frequencies = new Int32Array(blockLength);
  /** The block whose frequencies were unpacked. */
  #frequencyBlock = -1;
  readonly #list: PostingList;
  #block = -1;
  #boundBlock = 0;

  constructor(list: PostingList) {
    this.#list = list;
  }

  /** Moves to the first posting whose slot is at least `slot`; false if there is none. Slots must ascend. */
  seek(slot: number): boolean {
    const list = this.#list;
    if (this.count === 0 || list.lastSlot(this.#block) < slot) {
      let block = this.#block + 1;
      while (block < list.blocks && list.lastSlot(block) < slot) block++;
      this.#block = block;
      this.at = 0;
      this.count = block < list.blocks ? list.unpackSlots(block, this.slots) : 0;
      if (this.count === 0) return false;
    }
    let { at } = this;
    while (this.slots[at]! < slot) at++;
    this.at = at;
    return true;
  }

  /** The frequencies of the current block. */
  get frequencies(): Int32Array {
    if (this.#frequencyBlock !== this.#block) this.#list.unpackFrequencies(this.#block, this.#frequencies);
    this.#frequencyBlock = this.#block;
    return this.#frequencies;
  }

  /** The frequency in the text of a slot; 0 without a posting. Slots must ascend. */
  frequencyIn(slot: number): number {
    return this.seek(slot) && this.slots[this.at] === slot ? this.#list.frequency(this.#block, this.at) : 0;
  }

  /** The largest bound of the blocks that may have postings from slot `from` to before `to`. Windows must ascend. */
  boundBetween(from: number, to: number): number {
    const list = this.#list;
    while (this.#boundBlock < list.blocks && list.lastSlot(this.#boundBlock) < from) this.#boundBlock++;
    let bound = 0;
    for (let block = this.#boundBlock; block < list.blocks; block++) {
      bound = Math.max(bound, list.bound(block));
      if (list.lastSlot(block) >= to - 1) break;
    }
    return bound;
  }
}
