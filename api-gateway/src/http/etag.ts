/** The entity tag of a screenshot record: its resourceVersion and the expiry of its link, which changes every hour while the object does not. */
export const recordTag = (resourceVersion: string, linkExpires: number | undefined): string =>
  linkExpires === undefined ? `"${resourceVersion}"` : `"${resourceVersion}-${linkExpires.toString(36)}"`

/**
 * The entity tag of a key or webhook. The first half is the generation, which changes with the spec only. The second half also changes with
 * counters and conditions, so that a 304 is correct.
 */
export const versionTag = ({ generation = 0, resourceVersion }: { generation?: number | undefined; resourceVersion: string }): string =>
  `"${generation}-${resourceVersion}"`

const opaque = (tag: string): string => tag.trim().replace(/^W\//, '')

/**
 * True when If-Match has the same generation. A changed counter is not a conflict. Weak tags count too: a proxy that compresses a response, such as
 * Envoy or nginx, makes its tag weak, and the client sends it back.
 */
export function hasVersion(header: string, tag: string): boolean {
  const versionOf = (text: string): string | undefined => /^"(\d+)-\d+"$/.exec(opaque(text))?.[1]
  return (
    header.trim() === '*' ||
    header.split(',').some((candidate) => versionOf(candidate) !== undefined && versionOf(candidate) === versionOf(tag))
  )
}

/** True when a header such as `"a", W/"b"` or `*` contains the tag. Weak and strong tags compare as equal (RFC 9110, If-None-Match). */
export const hasTag = (header: string | undefined, tag: string): boolean =>
  header !== undefined && (header.trim() === '*' || header.split(',').some((candidate) => opaque(candidate) === opaque(tag)))
