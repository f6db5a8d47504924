import { expect, test } from "vitest";
import {
  elementWith,
  isText,
  named,
  parseHtml,
  textOf,
  withReplaced,
  type HtmlElement,
} from "../../../src/load/formats/element-tree.js";

const page = "<div>\n<p>One <a href=x>two</a></p><ul><li>three</ul></div>\r\n<p>four\r<b>five</b>";

function without(element: HtmlElement, name: string): HtmlElement {
  return withReplaced(element, (child) => (isText(child) ? child : child.name === name ? [] : without(child, name)));
}

test("an element in which nothing is replaced is itself, and the parts that stay are shared", () => {
  const tree = parseHtml(page);
  expect(without(tree, "table")).toBe(tree);
  const cut = without(tree, "ul");
  expect(cut).not.toBe(tree);
  expect(textOf(cut)).toBe("\nOne two\r\nfour\rfive");
  expect(named(cut, "p")).toHaveLength(2);
  for (const [index, paragraph] of named(cut, "p").entries()) expect(paragraph).toBe(named(tree, "p")[index]);
});

test("a size is that of the element's own children, also where the one that it was made from is measured", () => {
  const tree = parseHtml(page);
  expect(tree.size).toEqual({ text: "Onetwothreefourfive".length, inLinks: 3 });
  expect(without(tree, "ul").size).toEqual({ text: "Onetwofourfive".length, inLinks: 3 });
  expect(elementWith(tree, { name: "a" }).size.inLinks).toBe("Onetwothreefourfive".length);
  expect(elementWith(tree, { children: [] }).size).toEqual({ text: 0, inLinks: 0 });
});

test("lines are counted by each kind of line end", () => {
  const lines = named(parseHtml(page), "p", "ul", "b").map(({ name, line }) => [name, line]);
  expect(lines).toEqual([
    ["p", 2],
    ["ul", 2],
    ["p", 3],
  ]);
  const bold = named(parseHtml(page), "b");
  expect(bold.map(({ line }) => line)).toEqual([4]);
  expect(named(parseHtml("<p>\n\n<b>x"), "b")[0]!.line).toBe(3);
});
