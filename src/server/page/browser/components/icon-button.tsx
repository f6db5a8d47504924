import { Icon, type IconName } from "./icon.js";

export interface IconButtonProps {
  readonly icon: IconName;
  readonly label: string;
  readonly onClick: () => void;
  /** Shows the label beside the drawing. */
  readonly isLabelled?: boolean;
  /** For a button that stays pressed. */
  readonly isPressed?: boolean;
}

/** A plain button with an icon, labelled for screen readers. */
export function IconButton({ icon, label, onClick, isLabelled = false, isPressed }: IconButtonProps) {
  return (
    <button
      type="button"
      class="icon-button"
      onClick={onClick}
      {...(isPressed !== undefined && { "aria-pressed": isPressed })}
      {...(!isLabelled && { "aria-label": label, title: label })}
    >
      <Icon name={icon} />
      {isLabelled && <span>{label}</span>}
    </button>
  );
}
