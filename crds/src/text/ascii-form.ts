// Browsers send international host names in Punycode and other letters of a URL percent-encoded. Pure.

const HOST_AND_REST = /^([^/?#]*:\/\/)?([^/?#]*)(.*)$/s
const OTHER = /[\u0080-\uffff]/
const OTHER_LETTERS = /[\u0080-\uffff]+/g

/** A label of a host name in Punycode. Undefined: it is none, such as a label with a star in it. */
const toLabel = (label: string): string | undefined =>
  label.includes('*') ? undefined : URL.parse(`http://${label}.a/`)?.hostname.slice(0, -2)

/**
 * A host name, URL or pattern with `*` as browsers send it: `*.bücher.example` is `*.xn--bcher-kva.example`. Text in ASCII stays as it is.
 * Undefined: there is no such form.
 */
export function toAsciiForm(text: string): string | undefined {
  if (!OTHER.test(text)) return text
  const [, scheme = '', host = '', rest = ''] = HOST_AND_REST.exec(text.toWellFormed()) ?? []
  const labels = host.split('.').map((label) => (OTHER.test(label) ? toLabel(label) : label))
  if (OTHER.test(scheme) || labels.includes(undefined)) return undefined
  return scheme + labels.join('.') + rest.replaceAll(OTHER_LETTERS, encodeURIComponent)
}

/** Options of a check of the form of a text: the message, with the ASCII form of a text that is refused because of its international letters. */
export const withAsciiForm = (expected?: string) => ({
  error: ({ input }: { input?: unknown }): string | undefined => {
    const text = String(input)
    const ascii = OTHER.test(text) ? toAsciiForm(text) : undefined
    return ascii === undefined ? expected : `must be written as browsers send it: ${ascii}`
  },
})
