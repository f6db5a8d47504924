import { expect, test } from "vitest";
import { momentOf } from "../../../src/store/postgres/filters/filter-fields.js";

test.each([
  ["2026-02-28", Date.UTC(2026, 1, 28)],
  ["2026-02-28T13:45", Date.UTC(2026, 1, 28, 13, 45)],
  ["2026-02-28 13:45:30.25z", Date.UTC(2026, 1, 28, 13, 45, 30, 250)],
  ["2026-02-28T01:00+02:30", Date.UTC(2026, 1, 27, 22, 30)],
  ["2026-02-28T23:00 -01:00", Date.UTC(2026, 2, 1)],
])("%s is a moment that conditions compare by time", (text, moment) => {
  expect(momentOf(text)).toBe(moment);
});

test.each(["2026-02-30", "2026-13-01", "2026-02-28T24:01", "2026-02-28T01:00+15:00", "2026-02", "on 2026-02-28", ""])(
  "'%s' is no moment, and is compared as text",
  (text) => {
    expect(momentOf(text)).toBeUndefined();
  },
);
