// In test:all alone: it drives a browser, for 21 s.
import { describe, expect, test } from "vitest";
import { isChromiumMissing, tabs } from "../../support/chromium.js";
import { embeddingReply } from "../../support/embedding-service.js";
import { scriptedUpstream } from "../../support/scripted-upstream.js";
import { served } from "../../support/served.js";
import { streamed, transportFor } from "../../support/transport-for.js";
import { answered, answerOf, ask } from "./chat-page.js";

const question = "When do API keys expire?";

describe.skipIf(isChromiumMissing)("what others wrote", () => {
  const { open } = tabs();

  const attacks = [
    `<script>window.attacked = "script"</script>`,
    `<img src="http://127.0.0.1:9/pixel.png" onerror="window.attacked = 'onerror'">`,
    `<svg onload="window.attacked = 'onload'"><style>* { display: none }</style>`,
    `<iframe srcdoc="<script>parent.attacked = 'iframe'</script>"></iframe>`,
    `<a href="javascript:window.attacked = 'link'">here</a>`,
    `<form action="http://127.0.0.1:9/"><button data-citation="0" onclick="window.attacked = 'form'">Send</button></form>`,
  ];

  test("in documents, their titles and their names is text, and does nothing", async () => {
    const documents = attacks.map((attack, index) => ({
      uri: `folder/${index} ${attack}.md`,
      title: `Keys ${attack}`,
      text: `API keys expire after ${90 + index} days. ${attack}`,
    }));
    const { url } = await served(documents, (folder) => ({ title: attacks[0]!, uploads: { folder } }));
    const { page } = await open(url);
    await ask(page, question);
    await answered(page);
    await page.getByText(/What was looked at/).click();
    await answerOf(page).locator(".mark").first().click();
    await page.getByRole("complementary").locator("mark").waitFor();
    await page.getByRole("link", { name: "Documents" }).click();
    await expect.poll(() => page.locator(".document").count()).toBe(attacks.length);
    for (const [index, { title }] of documents.entries()) {
      await page.locator(".document-open").nth(index).click();
      expect(await page.locator(".document-open").allInnerTexts()).toContainEqual(expect.stringContaining(title));
      await expect.poll(() => page.getByRole("complementary").locator(".excerpt").innerText()).toContain("API keys");
    }
    const buffer = Buffer.from("Nothing.");
    await page
      .locator("input[type=file]")
      .setInputFiles({ name: `<img src=x onerror=alert(1)>.md`, mimeType: "", buffer });
    await page.locator(".upload .title", { hasText: "<img src=x onerror=alert(1)>.md" }).waitFor();
    expect(await page.evaluate("window.attacked")).toBeUndefined();
    expect(await page.locator("#app :is(img, iframe, script, style, form[action])").count()).toBe(0);
  });

  test("in answers is text, images are not loaded, and links lead only to the web and open apart", async () => {
    const written = [
      "[a](javascript:window.attacked=1)",
      "[b](data:text/html,<script>1</script>)",
      "[c](https://example.com/?q=1&r=2)",
      "![d](http://127.0.0.1:9/pixel.png)",
      "<javascript:window.attacked=1>",
      "[e]( java\nscript:window.attacked=1)",
      "[f]: javascript:window.attacked=1",
    ];
    const text = [...attacks, ...written, "```html\n<script>window.attacked = 1</script>\n```"].join("\n\n");
    const { transport } = await transportFor((request) =>
      request.path.endsWith("/embeddings") ? embeddingReply(request) : streamed(text),
    );
    const models = { embedding: "test/embed-m3", chat: "test/chat" };
    const { url } = await served([{ uri: "keys", text: "API keys expire." }], {}, { transport, models });
    const { page } = await open(url);
    await ask(page, question);
    await answered(page);
    const answer = answerOf(page);
    for (const attack of attacks) expect(await answer.innerText()).toContain(attack);
    const attributes = ["href", "target", "rel"];
    const links = await answer.locator("a").all();
    const shown = await Promise.all(
      links.map((each) => Promise.all(attributes.map((name) => each.getAttribute(name)))),
    );
    expect(shown).toEqual([
      ["https://example.com/?q=1&r=2", "_blank", "noopener noreferrer"],
      ["http://127.0.0.1:9/pixel.png", "_blank", "noopener noreferrer"],
    ]);
    expect(await answer.locator("img, script, iframe, svg, form, [onclick]").count()).toBe(0);
    expect(await page.evaluate("window.attacked")).toBeUndefined();
  });

  test("cannot become markup or be loaded even by a mistake of the page, for the browser is told so", async () => {
    const elsewhere = await scriptedUpstream([]);
    const { url } = await served([]);
    const { page, troubles } = await open(url, { mayFail: /Content Security Policy|Trusted|request to/ });
    await expect(page.evaluate(`document.body.innerHTML = "<b>text</b>"`)).rejects.toThrow("TrustedHTML");
    await page.evaluate(`new Image().src = "${elsewhere.baseUrl}/pixel.png"`);
    await page
      .evaluate(`document.head.append(Object.assign(document.createElement("script"), { text: "attacked = 1" }))`)
      .catch(() => undefined);
    await expect(page.evaluate(`fetch("${elsewhere.baseUrl}")`)).rejects.toThrow("Failed to fetch");
    await expect.poll(() => troubles.join("\n")).toContain("img-src");
    expect(elsewhere.requests).toEqual([]);
    expect(await page.evaluate("window.attacked")).toBeUndefined();
  });
});

describe.skipIf(isChromiumMissing)("who may see what", () => {
  const { open } = tabs();

  test("two tenants at one server see neither documents nor conversations of each other", async () => {
    const access = (request: Request) => {
      const tenant = request.headers.get("x-tenant") ?? "nobody";
      return { filter: { metadata: { tenant } }, owner: tenant };
    };
    const documents = ["north", "south"].map((tenant) => ({
      uri: tenant,
      title: `Keys of ${tenant}`,
      text: `API keys of ${tenant} expire after 90 days.`,
      metadata: { tenant },
    }));
    const { url } = await served(documents, { access }, { requireScope: true });
    const as = (tenant: string, hash = "") =>
      open(`${url}/${hash}`, { extraHTTPHeaders: { "x-tenant": tenant }, mayFail: /404/ });
    const north = (await as("north")).page;
    await ask(north, question);
    await answered(north);
    expect(await answerOf(north).innerText()).toContain("API keys of north expire");
    const south = (await as("south", new URL(north.url()).hash)).page;
    await south.getByText("There is no such conversation.").waitFor();
    expect(await south.locator(".conversation").count()).toBe(0);
    await south.getByRole("link", { name: "Documents" }).click();
    await expect.poll(() => south.locator(".document-open").allInnerTexts()).toEqual(["Keys of south\nsouth"]);
    expect(await south.content()).not.toContain("north");
  });

  test("a protected collection asks for its token, refuses a wrong one, and then goes on where it was", async () => {
    const { url } = await served([{ uri: "keys", title: "Keys", text: "API keys expire." }], { token: "open-sesame" });
    const { page } = await open(`${url}/#/documents`, { mayFail: /401/ });
    const field = page.getByLabel("Access token");
    await field.fill("guess-again");
    await page.keyboard.press("Enter");
    await page.getByText("This token is not accepted.").waitFor();
    expect(await page.content()).not.toContain("Keys");
    await field.fill("open-sesame");
    await page.keyboard.press("Enter");
    await page.locator(".document", { hasText: "Keys" }).waitFor();
    await page.reload();
    await page.locator(".document", { hasText: "Keys" }).waitFor();
  });
});
