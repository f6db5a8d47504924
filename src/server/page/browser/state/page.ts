import { effect, signal, untracked } from "@preact/signals";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { WireStatus } from "../../../api/wire.js";
import { createClient } from "../api/client.js";
import { createSend, failureOf } from "../api/http.js";
import { createChat } from "./chat.js";
import { createChoices, takenChoices } from "./choices.js";
import { createConversations } from "./conversations.js";
import { createDocuments } from "./documents.js";
import { matches } from "./media.js";
import { createPins } from "./pins.js";
import { createQuestionPictures } from "./question-pictures.js";
import { createPreferences } from "./preferences.js";
import { createRouter } from "./route.js";
import { createSource } from "./source.js";
import { createUploads } from "./uploads.js";

export type Page = ReturnType<typeof createPage>;

/** State of the whole page, with its actions. */
export function createPage() {
  const base = new URL(".", document.baseURI).href;
  const status = signal<WireStatus | undefined>(undefined);
  const isSignedOut = signal(false);
  /** Where people sign in; `undefined` where they type a token. */
  const signInAddress = signal<string | undefined>(undefined);
  /** The dialog that lies above the page. */
  const overlay = signal<"palette" | "shortcuts" | "answers" | undefined>(undefined);
  const notice = signal<string | undefined>(undefined);
  const preferences = createPreferences();
  const choices = createChoices();
  const pictures = createQuestionPictures();
  const router = createRouter();
  const client = createClient(
    createSend(base, (address) => {
      signInAddress.value = address;
      isSignedOut.value = true;
    }),
  );
  const conversations = createConversations(client);
  const documents = createDocuments(client);

  /** Runs an action in the background; a failure is shown as a notice. */
  const act = (work: Promise<unknown> | undefined): void => {
    work?.catch((error: unknown) => {
      if (isSignedOut.value) return;
      const { code, message } = failureOf(error);
      const { failures, actionFailed } = preferences.words.value;
      notice.value = actionFailed(failures[code] ?? message);
    });
  };
  const refreshStatus = async () => {
    status.value = await client.status();
  };
  const chat = createChat({
    client,
    router,
    asking: () => {
      const filter = documents.filter();
      const settings = takenChoices(choices.chosen.value, status.value?.choices);
      return { ...(filter && { filter }), ...(settings && { settings }) };
    },
    onProgress: () => act(conversations.refresh()),
  });
  const uploads = createUploads(client, (path) => new URL(path, base).href, {
    onChange: () => act(Promise.all([refreshStatus(), documents.refresh()])),
    onRead: ({ uri }) => act(documents.include(uri)),
    onRemove: ({ uri }) => documents.exclude(uri),
  });

  /** Name of what is open, for the title of the tab. */
  const openTitle = () => {
    if (router.route.value.view === "documents") return preferences.words.value.documents;
    return conversations.list.value.find(({ id }) => id === chat.id.value)?.title;
  };

  // All at once: on a slow line each request that waits for another costs half a second.
  const load = () =>
    Promise.all([
      conversations.load(),
      documents.refresh(),
      refreshStatus().then(() => (status.value?.uploads ? uploads.refresh() : undefined)),
    ]);

  return {
    status,
    isSignedOut,
    signInAddress,
    notice,
    overlay,
    client,
    pins: createPins(),
    preferences,
    choices,
    pictures,
    /** Adds pictures to the question that is being written, and says which of the files were not taken. */
    addPictures: (files: readonly File[]) => {
      const add = async () => {
        const left = await pictures.add(files);
        if (left.length > 0) notice.value = preferences.words.value.picturesLeft(left.join(", "));
      };
      act(add());
    },
    router,
    conversations,
    documents,
    chat,
    uploads,
    source: createSource(client),
    isNarrow: matches("(max-width: 52rem)"),
    act,
    /** Deletes a document, and with it what else the page shows of it. */
    deleteDocument: async (uri: string) => {
      await documents.remove(uri);
      await Promise.all([refreshStatus(), ...(status.value?.uploads ? [uploads.refresh()] : [])]);
    },
    /** Loads the data of the page, and follows the address from then on. */
    start: () => {
      act(load());
      effect(() => {
        const collection = status.value?.title;
        if (collection === undefined) return;
        document.title = [openTitle(), collection].filter(Boolean).join(" · ");
      });
      effect(() => {
        const route = router.route.value;
        if (route.view !== "chat" || route.conversation === chat.id.peek()) return;
        const { conversation } = route;
        documents.leaveConversation();
        untracked(() => (conversation === undefined ? chat.startNew() : void chat.open(conversation)));
      });
    },
    signIn: async (token: string) => {
      await client.signIn(token);
      isSignedOut.value = false;
      await load();
      const { route } = router;
      if (route.value.view === "chat" && route.value.conversation !== undefined)
        await chat.open(route.value.conversation);
    },
  };
}

const PageContext = createContext<Page | undefined>(undefined);

export const PageProvider = PageContext.Provider;

export function usePage(): Page {
  return useContext(PageContext)!;
}
