import { useState } from "preact/hooks";
import type { WireCitation } from "../../../../api/wire.js";
import { usePage } from "../../state/page.js";
import { pictureOf } from "../../text/addresses.js";

export interface DescribedPictureProps {
  /** Address of the document that shows it. */
  readonly uri: string;
  readonly picture: NonNullable<WireCitation["picture"]>;
  /** Whether it opens on a click, which what hovers cannot. */
  readonly opens?: boolean;
}

/** The picture that cited words describe; nothing where the server keeps none, or the browser cannot show it. */
export function DescribedPicture({ uri, picture, opens = false }: DescribedPictureProps) {
  const { preferences, status } = usePage();
  const words = preferences.words.value;
  const href = pictureOf(uri, picture.sha256);
  const [failed, setFailed] = useState("");
  if (status.value?.pictures !== true || failed === href) return null;
  const image = <img src={href} alt={words.pictureAlt} onError={() => setFailed(href)} />;
  return (
    <figure class="described-picture">
      {opens ? (
        <a href={href} target="_blank" rel="noopener noreferrer" title={words.openPicture}>
          {image}
        </a>
      ) : (
        image
      )}
      {opens && <figcaption>{words.describedBy(picture.describedBy)}</figcaption>}
    </figure>
  );
}
