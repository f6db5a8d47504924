import express from "express";
import { test } from "vitest";
import { expectMounted } from "../support/mounted.js";

test("a handler runs in Express, before what reads bodies", async () => {
  await expectMounted(({ node }) => express().all("/docs/{*path}", node).use(express.json()));
});
