/** True when the request says `Prefer: handling=lenient` (RFC 7240): unknown names are ignored and listed, not refused. */
export const isLenient = (prefer: string | string[] | undefined): boolean =>
  [prefer ?? []]
    .flat()
    .join(',')
    .split(',')
    .some((preference) => /^\s*handling\s*=\s*"?lenient"?\s*(;|$)/i.test(preference))
