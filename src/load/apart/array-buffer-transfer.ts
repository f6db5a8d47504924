/**
 * Gives the thread it is called in the method of `ArrayBuffer` by which the PDF reader hands on fonts, where the platform
 * lacks it: Node.js has it since 21. https://tc39.es/ecma262/#sec-arraybuffer.prototype.transfertofixedlength
 */
export function provideTransfer(): void {
  const { prototype } = ArrayBuffer;
  if ("transferToFixedLength" in prototype) return;
  const method = { value: transferToFixedLength, writable: true, configurable: true };
  Object.defineProperty(prototype, "transferToFixedLength", method);
}

function transferToFixedLength(this: ArrayBuffer, length = this.byteLength): ArrayBuffer {
  const moved = structuredClone(this, { transfer: [this] });
  if (length === moved.byteLength) return moved;
  const resized = new ArrayBuffer(length);
  new Uint8Array(resized).set(new Uint8Array(moved, 0, Math.min(length, moved.byteLength)));
  return resized;
}
