import { useLayoutEffect, useRef } from "preact/hooks";

/** Puts the focus into an element as it appears, with the words of a field selected. */
export function useFocus<T extends HTMLElement>() {
  const element = useRef<T>(null);
  useLayoutEffect(() => {
    element.current?.focus();
    if (element.current instanceof HTMLInputElement) element.current.select();
  }, []);
  return element;
}
