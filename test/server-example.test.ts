import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";
import { root } from "./support/citewell.js";
import { clientOf } from "./support/served.js";
import { temporaryFolder } from "./support/temporary-folder.js";

test("the server tells tenants apart by their tokens, takes their uploads, and lets calls wait", async () => {
  const child = spawn(process.execPath, [join(root, "build/examples/tenants/server.js")], {
    cwd: root,
    env: { ...process.env, TMPDIR: await temporaryFolder() },
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let complaints = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (complaints += text));
  const [url] = (await once(createInterface(child.stdout), "line")) as [string];
  const as = (token: string) => clientOf(url, { authorization: `Bearer ${token}` });
  const [north, south] = [as("token-of-north"), as("token-of-south")];

  const question = "When do API keys expire?";
  const ends = async (of: typeof north) => (await of.events("/api/conversations", { question })).at(-1);
  expect(await ends(north)).toMatchObject({
    text: expect.stringMatching(/API keys expire after 90 days\..*\[1\]$/s) as string,
  });
  expect(await ends(south)).toMatchObject({
    text: expect.stringMatching(/API keys expire after 30 days\..*\[1\]$/s) as string,
  });
  await as("guessed").json("POST", "/api/conversations", { question }, 401);

  await north.json("PUT", "/api/uploads/locks.md", "Locks rust in winter.", 202);
  const states = async (of: typeof north) => (await of.json("GET", "/api/uploads")).uploads.map(({ state }) => state);
  await expect.poll(() => states(north), { timeout: 20_000 }).toEqual(["done"]);
  expect(await states(south)).toEqual([]);

  const asked = await north.events("/api/conversations", { question: 'Please open a ticket with the subject "keys"' });
  const [{ id }, { waiting }] = [asked[0], asked.at(-1)] as [{ id: string }, { waiting: { approvalId: string }[] }];
  const approvals = { [waiting[0]!.approvalId]: true };
  await south.json("POST", `/api/conversations/${id}/approvals`, { approvals }, 404);
  const resumed = await north.events(`/api/conversations/${id}/approvals`, { approvals });
  expect(resumed.find(({ type }) => type === "tool-result")).toMatchObject({ output: "Ticket 17 was opened: keys" });

  child.kill("SIGINT");
  expect(await once(child, "close")).toEqual([0, null]);
  expect(complaints).toBe("");
}, 120_000);
