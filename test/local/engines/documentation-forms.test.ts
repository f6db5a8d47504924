import { describe, expect, test } from "vitest";
import { choosePassages } from "../../../src/local/engines/chat/passages/choose-passages.js";
import { quotationText } from "../../../src/local/engines/chat/passages/quotation.js";
import { textOf, unitsOf } from "../../../src/local/engines/chat/passages/units.js";
import { proseSentences } from "../../../src/text/blocks/plain-text.js";
import { definitionOf } from "../../../src/text/words/definition.js";

function read(text: string) {
  return unitsOf([{ number: 1, text }]);
}

function chosen(question: string, text: string): readonly string[] {
  return choosePassages(question, [{ number: 1, text }]).map(quotationText);
}

describe("a note in a block quote", () => {
  const note =
    "Pumps only run in sheds.\n\n> [!NOTE]\n>\n> The pump needs a\n> [pressure server](https://pump.test/) running on\n" +
    "> your site. Ask first.\n>\n> - Managed sites like\n>   the [Esk](https://esk.test) have one.\n> - Others do not.\n";

  test("keeps its sentences whole where its lines wrap, and its items apart", () => {
    const texts = read(note).map((unit) => textOf(unit).replaceAll(/\s*\n[\s>]*/g, " "));
    expect(texts).toEqual([
      "Pumps only run in sheds.",
      "> The pump needs a [pressure server](https://pump.test/) running on your site.",
      "Ask first.",
      "> - Managed sites like the [Esk](https://esk.test) have one.",
      "> - Others do not.",
    ]);
  });

  test("has lines that are no sentence of the one before", () => {
    const lines = (text: string) => proseSentences(text).map(({ start, end }) => text.slice(start, end));
    const separate = [
      "> Pumps\n> 1. One",
      "> Pumps:\n> one",
      "> Pumps run.\n> One",
      "Pumps\n> one",
      "> Pumps\n> # One",
    ];
    expect(separate.map((text) => lines(text).length)).toEqual([2, 2, 2, 2, 2]);
    expect(lines("> Pumps\n> run. One\n> more")).toEqual(["> Pumps\n> run.", "One\n> more"]);
  });
});

test("a question of what happens in some case is answered by the sentence on that case", () => {
  const guide =
    "## Use\n\n`#[Watch]` works on functions, not only on a marked method:\n\n```php\n#[Watch]\nfunction run() {}\n```\n\n" +
    "## Faults\n\nIf the marked method throws, its record says so. The fault goes on as before.\n";
  const [first] = chosen("What happens when a method marked with #[Watch] throws?", guide);
  expect(first).toContain("its record says so");
});

test("a list whose items say no more of what is asked than its lead-in does is quoted whole", () => {
  const page =
    "The **Pump Users Group** is now busy with:\n\n- Writing a common list of words\n- Finding gaps in the plans of pumps\n\n" +
    "The group meets on Mondays.";
  const answer = chosen("What is the Pump Users Group busy with?", page).join("\n");
  expect(answer).toContain("common list");
  expect(answer).toContain("Finding gaps");
});

test("a long list leaves room for the sentence behind it", () => {
  const page =
    "The club lends single pump layers for these sites:\n\n- Esk\n- Hollberg\n- Quenby\n- Zephyr\n\n" +
    "They can be had in spring. These layers do not include the meter, which you have to bring.";
  const answer = chosen("Do the single pump layers for the sites include the meter?", page);
  expect(answer.join("\n")).toContain("do not include");
});

test("a paragraph that is a command is quoted with the sentence that leads up to it", () => {
  const page =
    "You can check the state of the pump by running\n\n`pumpctl get state -n <your_site>`\n\nIt takes a while.";
  const [first] = chosen("Which command checks the state of the pump?", page);
  expect(first).toContain("You can check the state of the pump by running\n\n`pumpctl get state -n <your_site>`");
});

test("an aside defines a thing less surely than a sentence that begins with it", () => {
  const shim = definitionOf("What does the valve shim do?")!;
  expect(shim.strength("Each pump brings a valve shim, which acts as a bridge of two valves.")).toBe(0.5);
  expect(shim.strength("The valve shim is a bridge of two valves.")).toBe(1);
  expect(shim.strength("Each pump brings a valve shim for two valves.")).toBe(0);
});
