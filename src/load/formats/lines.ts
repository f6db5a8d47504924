/** Lines of a text that comes in pieces, numbered from 1; the text of a line longer than allowed is `undefined`. */
export async function* lines(
  pieces: AsyncIterable<string>,
  maxLength: number,
): AsyncGenerator<{ number: number; text: string | undefined }> {
  let number = 1;
  let open: string[] = [];
  let length = 0;
  const take = () => {
    const line = { number: number++, text: length > maxLength ? undefined : open.join("") };
    open = [];
    length = 0;
    return line;
  };
  const add = (part: string) => {
    length += part.length;
    if (length > maxLength) open = [];
    else open.push(part);
  };
  for await (const piece of pieces) {
    const [first, ...others] = piece.split("\n");
    add(first!);
    for (const part of others) {
      yield take();
      add(part);
    }
  }
  if (length > 0) yield take();
}
