import { useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect } from "preact/hooks";

/** A reader this near to the end, in pixels, is taken to be at it. */
const nearPx = 60;

/** Keeps the end of growing content in view, as long as the reader has not scrolled away from it. */
export function useFollowedScroll(scroller: RefObject<HTMLElement | null>, content: RefObject<HTMLElement | null>) {
  const isAtEnd = useSignal(true);
  const toEnd = () => {
    isAtEnd.value = true;
    scroller.current?.scrollTo({ top: scroller.current.scrollHeight });
  };
  useEffect(() => {
    const element = scroller.current!;
    const onScroll = () => {
      isAtEnd.value = element.scrollHeight - element.scrollTop - element.clientHeight < nearPx;
    };
    const observer = new ResizeObserver(() => {
      if (isAtEnd.peek()) toEnd();
    });
    observer.observe(content.current!);
    observer.observe(element);
    element.addEventListener("scroll", onScroll, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", onScroll);
    };
  }, []);
  return { isAtEnd, toEnd };
}
