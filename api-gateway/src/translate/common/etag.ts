/**
 * The entity tag of a record: its resourceVersion, and the expiry of the link in it, which moves by whole hours while the object stays
 * the same.
 */
export const recordTag = (resourceVersion: string, linkExpires: number | undefined): string =>
  linkExpires === undefined ? `"${resourceVersion}"` : `"${resourceVersion}-${linkExpires.toString(36)}"`

/**
 * The entity tag of a key or webhook. Its first half tells which version of what clients can change; the second one moves with counters and
 * conditions too, so that a 304 is true.
 */
export const versionTag = ({ generation = 0, resourceVersion }: { generation?: number | undefined; resourceVersion: string }): string =>
  `"${generation}-${resourceVersion}"`

/** True when If-Match names that version of what clients can change: a counter that has moved since is no conflict. */
export function hasVersion(header: string, tag: string): boolean {
  const versionOf = (text: string): string | undefined => /^"(\d+)-\d+"$/.exec(text.trim())?.[1]
  return (
    header.trim() === '*' ||
    header.split(',').some((candidate) => versionOf(candidate) !== undefined && versionOf(candidate) === versionOf(tag))
  )
}

const opaque = (tag: string): string => tag.trim().replace(/^W\//, '')

/** True when a header of the form `"a", W/"b"` or `*` holds the tag; weak and strong are not told apart (RFC 9110, If-None-Match). */
export const hasTag = (header: string | undefined, tag: string): boolean =>
  header !== undefined && (header.trim() === '*' || header.split(',').some((candidate) => opaque(candidate) === opaque(tag)))
