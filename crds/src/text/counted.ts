/** `1 field`, `3 fields`. The plural has an s. */
export const counted = (count: number | bigint, noun: string): string => `${count} ${noun}${Number(count) === 1 ? '' : 's'}`
