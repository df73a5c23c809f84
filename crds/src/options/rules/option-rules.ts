// Whether links may have an option, and whether it changes the picture. The gateway reads these rules for links and for the cache, and docs/options.md
// shows them.

/** Whether signed links may have an option. Everyone who sees a page can read its links. */
export type LinkRule =
  | 'yes'
  /** It is secret, runs code, calls another server, or is about the response to a request. */
  | 'no'
  /** It shows text, frames or pictures of the link's own. A link policy that limits hosts must allow it separately. */
  | 'own_markup'
  /** Links may have every other value. */
  | { except: boolean }

/** Whether an option changes the picture. The cache hash contains every option that does not say no. */
export type PictureRule =
  | 'yes'
  | 'no'
  /** It changes whether there is a picture, its record, or the files beside it, so the cache keeps a picture for each value. */
  | 'separate'
  /** It changes the picture only if `holds` is true for the options of the request, with defaults. `when` says the same for the docs. */
  | { when: string; holds(options: Readonly<Record<string, unknown>>): boolean }

export interface OptionRules {
  links: LinkRule
  picture: PictureRule
}

/** True if no link may have an option with this value. */
export const isRefusedInLinks = (rule: LinkRule, value: unknown): boolean =>
  rule === 'no' || (typeof rule === 'object' && rule.except === value)
