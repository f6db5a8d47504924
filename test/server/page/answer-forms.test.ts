// In test:all alone: it drives a browser, for 15 s.
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { formulaIn } from "../../../src/server/page/browser/text/math.js";
import { isChromiumMissing, tabs } from "../../support/chromium.js";
import { served } from "../../support/served.js";
import { embeddingReply } from "../../support/embedding-service.js";
import { streamed, transportFor } from "../../support/transport-for.js";
import { answered, answerOf, ask } from "./chat-page.js";

describe("a dollar", () => {
  test.each([
    ["$x^2$ grows", "x^2"],
    ["$5$", "5"],
    ["$a\\$b$", "a\\$b"],
    ["\\(a_b\\) and", "a_b"],
    ["$$\na = b\n$$", "a = b"],
    ["\\[\\frac{1}{2}\\]", "\\frac{1}{2}"],
  ])("in %j begins the formula %j", (text, tex) => expect(formulaIn(text)?.tex).toBe(tex));

  test.each(["$5 and $10", "$5-$10", "$ x $", "$x", "$HOME is set\n$PATH", "$"])("in %j begins none", (text) =>
    expect(formulaIn(text)).toBeUndefined(),
  );
});

const source = "The mean is the sum over n. It is computed by the function mean. API keys expire after 90 days.";
const reply = [
  'The mean [1: "The mean is the sum over n."] is $\\frac{1}{n}\\sum_{i=1}^{n} x_i$, and it costs $5 or $10:',
  "",
  "$$\\int_0^1 x^2\\,dx = \\tfrac{1}{3}$$",
  "",
  "A mistake stays as it is: $\\frac{1$ and \\(\\nonsense{x}\\).",
  "",
  "- [x] done",
  "- [ ] open",
  "",
  "```python",
  "def mean(values):",
  "    return sum(values) / len(values)  # the mean",
  "```",
  "",
  "```",
  "plain",
  "```",
].join("\n");
/** The part of the page that draws is loaded at the first formula. */
const patient = { timeout: 10_000 };
const models = { embedding: "test/embed-m3", chat: "test/chat" };

describe.skipIf(isChromiumMissing)("an answer of a model", () => {
  const { open } = tabs();

  async function asked(options: Parameters<typeof open>[1] = {}) {
    const { transport } = await transportFor((request) =>
      request.path.endsWith("/embeddings") ? embeddingReply(request) : streamed(reply),
    );
    const client = await served([{ uri: "mean", title: "Means", text: source }], {}, { transport, models });
    const tab = await open(client.url, { permissions: ["clipboard-read", "clipboard-write"], ...options });
    await ask(tab.page, "What is the mean?");
    await answered(tab.page);
    return { ...tab, client };
  }

  test("shows formulas as such, and what is none or has a mistake as it was written", async () => {
    const { page } = await asked();
    const formulas = answerOf(page).locator(".formula");
    await expect.poll(() => answerOf(page).locator("math").count(), patient).toBe(2);
    expect(await answerOf(page).locator("math[display=block]").count()).toBe(1);
    expect(await answerOf(page).locator("math mfrac").count()).toBe(2);
    expect(await formulas.nth(0).textContent()).not.toContain("\\frac");
    expect(await formulas.nth(3).textContent()).toBe("\\(\\nonsense{x}\\)");
    const text = await answerOf(page).innerText();
    expect(text).toContain("it costs $5 or $10:");
    expect(text).toContain("$\\frac{1$");
    expect(text).toMatch(/☑ done\s+☐ open/);
    const folder = process.env["SCREENSHOTS"];
    if (folder !== undefined) await page.screenshot({ path: join(folder, "answer-forms.png") });
  });

  test("names the language of code, colours it, and confirms that it was copied", async () => {
    const { page } = await asked();
    const [python, plain] = [answerOf(page).locator(".code").nth(0), answerOf(page).locator(".code").nth(1)];
    expect(await python.locator(".language").innerText()).toBe("python");
    expect(await plain.locator(".language").count()).toBe(0);
    await expect.poll(() => page.evaluate("CSS.highlights.get('code-keyword')?.size ?? 0"), patient).toBeGreaterThan(0);
    await python.getByRole("button", { name: "Copy code" }).click();
    await python.getByRole("button", { name: "Copied" }).waitFor();
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe(
      "def mean(values):\n    return sum(values) / len(values)  # the mean",
    );
    await python.getByRole("button", { name: "Copy code" }).waitFor();
  });

  test.each(["pointer", "keyboard"])(
    "shows the quotation behind a number that the %s is on, until Escape",
    async (by) => {
      const { page } = await asked();
      const mark = answerOf(page).locator("button.mark");
      const card = page.getByRole("tooltip");
      if (by === "pointer") await mark.hover();
      else await mark.focus();
      expect(await card.innerText()).toMatch(/^Means\s*line 1\s+The mean is the sum over n\.\s+found in the document/);
      expect(await mark.getAttribute("aria-describedby")).toBe("citation-card");
      const [place, marked] = [await card.boundingBox(), await mark.boundingBox()];
      expect(place!.y).toBeGreaterThanOrEqual(marked!.y + marked!.height);
      const folder = process.env["SCREENSHOTS"];
      if (folder !== undefined) await page.screenshot({ path: join(folder, `card-${by}.png`) });
      await mark.focus();
      await page.keyboard.press("Escape");
      expect(await card.count()).toBe(0);
    },
  );

  test("is rated with a note, which is there again after a reload, and taken back by the same button", async () => {
    const { page, client } = await asked();
    const ratings = async () => {
      const listed = (await client.json("GET", "/api/feedback")) as unknown as { answers: { feedback: object }[] };
      return listed.answers.map(({ feedback }) => feedback);
    };
    await page.getByRole("button", { name: "This answer did not help" }).click();
    await page.getByPlaceholder("What was right or wrong?").fill("It lacks the unit");
    await page.keyboard.press("Enter");
    await expect.poll(ratings).toMatchObject([{ rating: "down", note: "It lacks the unit" }]);
    await page.reload();
    const pressed = page.getByRole("button", { name: "This answer did not help", pressed: true });
    await pressed.click();
    await expect.poll(ratings).toEqual([]);
    await page.getByRole("button", { name: "This answer did not help", pressed: false }).waitFor();
  });
});
