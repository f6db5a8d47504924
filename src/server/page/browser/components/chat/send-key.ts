/** Enter sends; not with Shift, and not while an input method turns letters into Chinese. */
export function isSendKey({ key, shiftKey, isComposing }: KeyboardEvent): boolean {
  return key === "Enter" && !shiftKey && !isComposing;
}
