import { render } from "preact";
import { App } from "./components/app.js";
import { createPage, PageProvider } from "./state/page.js";

const page = createPage();
page.start();
render(
  <PageProvider value={page}>
    <App />
  </PageProvider>,
  document.querySelector("#app")!,
);
