import type { ComponentType } from "preact";
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { usePage } from "../../state/page.js";
import type { PdfViewProps } from "./pdf-view.js";

/** Shows a PDF by what is loaded with the first one. */
export function PdfPane(props: PdfViewProps) {
  const words = usePage().preferences.words.value;
  const loaded = useSignal<{ readonly Show: ComponentType<PdfViewProps> } | undefined>(undefined);
  useEffect(() => {
    import("./pdf-view.js").then(
      ({ PdfView }) => (loaded.value = { Show: PdfView }),
      () => props.onFailure("failed"),
    );
  }, []);
  if (!loaded.value) return <p class="quiet">{words.loading}</p>;
  const { Show } = loaded.value;
  return <Show {...props} />;
}
