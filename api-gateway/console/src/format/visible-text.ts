import { replaceHidden, toEscape } from '@tintype/crds/text/visible'

// Titles of pages, names and responses of receivers come from strangers. Hidden characters in them, such as U+202E, could make a text read as
// another one. Preact passes every element and every text to showHidden, so no part of the console can forget it.

/** Attributes that people see or hear. */
const SHOWN = ['alt', 'aria-label', 'aria-valuetext', 'placeholder', 'title'] as const

/** Hidden characters as escapes, such as `\u202e`. Line breaks and tabs stay, because blocks of code show them. */
export const toVisible = (text: string): string =>
  replaceHidden(text, (character) => (/[\t\n\r]/.test(character) ? character : toEscape(character)))

/** An element of preact, or a text, which has no type and itself as properties. */
interface Node {
  type: unknown
  props: unknown
}

/** Changes what is drawn: hidden characters in texts and attributes become visible. The values of input fields stay as they are. */
export function showHidden(node: Node): void {
  if (typeof node.type !== 'string') {
    if (typeof node.props === 'string') node.props = toVisible(node.props)
    return
  }
  const props = node.props as Record<string, unknown>
  for (const name of SHOWN) {
    const value = props[name]
    if (typeof value === 'string') props[name] = toVisible(value)
  }
}
