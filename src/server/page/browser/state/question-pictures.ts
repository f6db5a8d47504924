import { signal } from "@preact/signals";
import { shrinkPicture } from "../text/shrink-picture.js";

/** A picture that goes with the next question. */
export interface QuestionPicture {
  /** Tells two pictures of one name apart. */
  readonly key: number;
  readonly name: string;
  /** `data:image/jpeg;base64,…` */
  readonly address: string;
}

/** Pictures that one question takes: as many as fit the server's limit of a request. */
export const maxPictures = 4;

/** The pictures of the question that is being written. */
export function createQuestionPictures() {
  const chosen = signal<readonly QuestionPicture[]>([]);
  let made = 0;
  return {
    chosen,
    /** Adds those of the files that are pictures. @returns the names of files that are none, or one too many */
    add: async (files: readonly File[]): Promise<readonly string[]> => {
      const left: string[] = [];
      for (const file of files) {
        const address = chosen.value.length < maxPictures ? await shrinkPicture(file) : undefined;
        if (address === undefined) left.push(file.name);
        else chosen.value = [...chosen.value, { key: made++, name: file.name, address }];
      }
      return left;
    },
    remove: (key: number) => {
      chosen.value = chosen.value.filter((picture) => picture.key !== key);
    },
    /** Hands them over to a question. */
    take: (): readonly string[] => {
      const addresses = chosen.value.map(({ address }) => address);
      chosen.value = [];
      return addresses;
    },
  };
}
