/** Copies text. The clipboard is closed to pages that come over plain HTTP from elsewhere; a selection is not. */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) {
    await navigator.clipboard.writeText(text);
    return;
  }
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "for-screen-readers";
  const focused = document.activeElement;
  document.body.append(field);
  field.select();
  const isCopied = document.execCommand("copy");
  field.remove();
  if (focused instanceof HTMLElement) focused.focus();
  if (!isCopied) throw new Error("The browser does not allow it");
}
