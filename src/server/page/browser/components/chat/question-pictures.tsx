import { useRef } from "preact/hooks";
import { usePage } from "../../state/page.js";
import { IconButton } from "../icon-button.js";

/** The pictures that go with the question being written; each can be taken out. */
export function QuestionPictures() {
  const { pictures, preferences } = usePage();
  const words = preferences.words.value;
  if (pictures.chosen.value.length === 0) return null;
  return (
    <ul class="question-pictures" aria-label={words.questionPictures}>
      {pictures.chosen.value.map(({ key, name, address }) => (
        <li key={key}>
          <img src={address} alt={name} />
          <IconButton icon="close" label={words.removePicture(name)} onClick={() => pictures.remove(key)} />
        </li>
      ))}
    </ul>
  );
}

/** Chooses pictures for the question. Only shown where a model sees them. */
export function PictureButton() {
  const { addPictures, preferences, status } = usePage();
  const field = useRef<HTMLInputElement>(null);
  if (!status.value?.images) return null;
  const label = preferences.words.value.addPictures;
  return (
    <>
      <IconButton icon="picture" label={label} onClick={() => field.current?.click()} />
      <input
        ref={field}
        type="file"
        multiple
        hidden
        accept="image/*"
        aria-label={label}
        onChange={({ currentTarget }) => {
          addPictures([...(currentTarget.files ?? [])]);
          currentTarget.value = "";
        }}
      />
    </>
  );
}
