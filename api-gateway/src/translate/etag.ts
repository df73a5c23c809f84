/**
 * The entity tag of a record: its resourceVersion, and the expiry of the link in it, which moves by whole hours while the object stays
 * the same.
 */
export const recordTag = (resourceVersion: string, linkExpires: number | undefined): string =>
  linkExpires === undefined ? `"${resourceVersion}"` : `"${resourceVersion}-${linkExpires.toString(36)}"`

const opaque = (tag: string): string => tag.trim().replace(/^W\//, '')

/** True when a header of the form `"a", W/"b"` or `*` holds the tag; weak and strong are not told apart (RFC 9110, If-None-Match). */
export const hasTag = (header: string | undefined, tag: string): boolean =>
  header !== undefined && (header.trim() === '*' || header.split(',').some((candidate) => opaque(candidate) === opaque(tag)))
