import { useLayoutEffect, useRef } from "preact/hooks";

/** Focuses an element when it appears, and selects the text of a field. */
export function useFocus<T extends HTMLElement>() {
  const element = useRef<T>(null);
  useLayoutEffect(() => {
    element.current?.focus();
    if (element.current instanceof HTMLInputElement) element.current.select();
  }, []);
  return element;
}
