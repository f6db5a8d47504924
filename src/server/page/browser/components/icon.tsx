/** Outlines on a grid of 24 by 24. */
const outlines = {
  menu: "M4 7h16M4 12h16M4 17h16",
  plus: "M12 5v14M5 12h14",
  minus: "M5 12h14",
  close: "M6 6l12 12M18 6L6 18",
  send: "M12 19V5M6 11l6-6 6 6",
  stop: "M7 7h10v10H7z",
  copy: "M9 9h10v11H9zM15 9V4H5v11h4",
  check: "M5 12.5l4.5 4.5L19 7.5",
  again: "M19 12a7 7 0 1 1-2.1-5M19 4v4h-4",
  pencil: "M4 20l1-4L16 5l3 3L8 19zM14 7l3 3",
  bin: "M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13M10.5 11v5M13.5 11v5",
  file: "M6 3h8l4 4v14H6zM14 3v4h4",
  clip: "M17 8l-7.5 7.5a2 2 0 0 0 3 3L20 11a4 4 0 0 0-6-6l-7.5 7.5a6 6 0 0 0 8.5 8.5",
  out: "M14 4h6v6M20 4l-9 9M18 14v6H4V6h6",
  warning: "M12 4l9 16H3zM12 10v4M12 17v.5",
  up: "M6 15l6-6 6 6",
  down: "M6 9l6 6 6-6",
  thumbUp: "M7 11v9H4v-9zM7 11l4-8c1.5 0 2.5 1 2.5 2.5V9H19a1.5 1.5 0 0 1 1.5 1.8l-1.5 8a1.5 1.5 0 0 1-1.5 1.2H7",
  thumbDown: "M7 13V4H4v9zM7 13l4 8c1.5 0 2.5-1 2.5-2.5V15H19a1.5 1.5 0 0 0 1.5-1.8l-1.5-8A1.5 1.5 0 0 0 17.5 4H7",
  pin: "M9 4h6l-1 6 3 3v2H7v-2l3-3zM12 15v6",
  talk: "M4 5h16v11H10l-5 4v-4H4z",
  search: "M10.5 4a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13M15.5 15.5L20 20",
  sliders: "M4 7h9M17 7h3M4 12h3M11 12h9M4 17h7M15 17h5M15 5v4M9 10v4M13 15v4",
  picture: "M4 5h16v14H4zM4 16l5-5 4 4 3-3 4 4M15.5 8.5h.01",
  keyboard: "M3 7h18v11H3zM7 11h.01M11 11h.01M15 11h.01M8 15h8",
  tool: "M14 7a4 4 0 0 1 5-4l-2.5 2.5 2 2L21 5a4 4 0 0 1-5.3 5.1L8 18a2 2 0 0 1-3-3l8-7.5",
} as const;

export type IconName = keyof typeof outlines;

/** A drawing that says nothing by itself: what holds it has a label. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={outlines[name]} />
    </svg>
  );
}
