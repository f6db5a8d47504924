/** The tokens that a text is made of, by rising rank: in byte pair encoding, what is merged first comes first. */
export interface Vocabulary {
  /** Of all tokens, one behind the other. */
  readonly bytes: Uint8Array;
  /** Where each token begins, and behind them the end of the last. */
  readonly starts: Uint32Array;
}

const lineBreak = 0x0a;
const blank = 0x20;

/**
 * Reads the `.tiktoken` format: lines of a token's bytes in Base64, a blank and its rank, by rising rank.
 * By hand, since a call a token to what Node has for Base64 takes three times as long.
 */
export function readTiktokenFile(file: Uint8Array): Vocabulary {
  const digits = base64Digits();
  const bytes = new Uint8Array(file.length);
  // The shortest line is `IQ== 0`.
  const starts = new Uint32Array(Math.ceil(file.length / 7) + 1);
  let end = 0;
  let tokens = 0;
  let [bits, held] = [0, 0];
  let inToken = true;
  for (let at = 0; at < file.length; at++) {
    const byte = file[at]!;
    if (byte === blank) {
      inToken = false;
      starts[++tokens] = end;
    } else if (byte === lineBreak) {
      inToken = true;
      held = 0;
    } else if (inToken && digits[byte]! >= 0) {
      bits = (bits << 6) | digits[byte]!;
      held += 6;
      if (held >= 8) {
        held -= 8;
        bytes[end++] = bits >>> held;
      }
    }
  }
  return { bytes: bytes.slice(0, end), starts: starts.slice(0, tokens + 1) };
}

function base64Digits(): Int8Array {
  const digits = new Int8Array(256).fill(-1);
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (let digit = 0; digit < letters.length; digit++) digits[letters.charCodeAt(digit)] = digit;
  return digits;
}
