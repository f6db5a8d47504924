import { signal, type ReadonlySignal } from "@preact/signals";

/** The view that the address names behind its hash, so that a reload and the back button find it again. */
export type Route = { readonly view: "chat"; readonly conversation?: string } | { readonly view: "documents" };

export function parseRoute(hash: string): Route {
  if (hash === "#/documents") return { view: "documents" };
  const id = /^#\/c\/(.+)$/.exec(hash)?.[1];
  return id === undefined ? { view: "chat" } : { view: "chat", conversation: decoded(id) };
}

export function hashOf(route: Route): string {
  if (route.view === "documents") return "#/documents";
  return route.conversation === undefined ? "#/" : `#/c/${encodeURIComponent(route.conversation)}`;
}

export interface Router {
  readonly route: ReadonlySignal<Route>;
  readonly go: (route: Route) => void;
  /** Goes at once, where `go` waits for the browser to tell of the new address. */
  readonly push: (route: Route) => void;
  /** Replaces the current history entry. */
  readonly replace: (route: Route) => void;
}

export function createRouter(): Router {
  const route = signal(parseRoute(location.hash));
  window.addEventListener("hashchange", () => {
    route.value = parseRoute(location.hash);
  });
  return {
    route,
    go: (to) => {
      location.hash = hashOf(to);
    },
    push: (to) => {
      history.pushState(undefined, "", hashOf(to));
      route.value = to;
    },
    replace: (to) => {
      history.replaceState(undefined, "", hashOf(to));
      route.value = to;
    },
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
