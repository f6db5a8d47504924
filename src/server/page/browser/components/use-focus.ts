import { useLayoutEffect, useRef } from "preact/hooks";

/** Focuses an element when it appears: a line is selected, and the caret goes to the end of a longer text. */
export function useFocus<T extends HTMLElement>() {
  const element = useRef<T>(null);
  useLayoutEffect(() => {
    element.current?.focus();
    if (element.current instanceof HTMLInputElement) element.current.select();
    if (element.current instanceof HTMLTextAreaElement) {
      const { length } = element.current.value;
      element.current.setSelectionRange(length, length);
    }
  }, []);
  return element;
}
