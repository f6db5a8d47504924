import { type ReadonlySignal, signal } from "@preact/signals";

/** Whether a media query holds at present. */
export function matches(query: string): ReadonlySignal<boolean> {
  const media = matchMedia(query);
  const current = signal(media.matches);
  media.addEventListener("change", () => {
    current.value = media.matches;
  });
  return current;
}
