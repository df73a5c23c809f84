import type { AccountUsageStatus, Reservation, StoredUsageStatus } from '../kinds/account-usage.ts'

// Converts the status of an AccountUsage between the form in the programs and the stored form. Ignores entries that Tintype cannot have written.

type Window = NonNullable<AccountUsageStatus['window']>

/** Converts to the stored form. */
export function toStoredStatus<T extends Partial<AccountUsageStatus>>({ window, reservations, ...rest }: T) {
  return {
    ...rest,
    ...(window === undefined ? {} : { window: window.map(({ second, count }) => `${second}=${count}`).join(' ') }),
    ...(reservations === undefined ? {} : { reservations: reservations.map(toLine) }),
  }
}

/** Converts from the stored form. */
export function readStoredStatus({ window, reservations, ...rest }: StoredUsageStatus): AccountUsageStatus {
  return {
    ...rest,
    ...(window === undefined ? {} : { window: isText(window) ? readWindow(window) : [] }),
    ...(reservations === undefined ? {} : { reservations: reservations.filter(isText).flatMap((line) => readLine(line) ?? []) }),
  }
}

/** False for entries of an earlier version, which were objects. The API server returns them empty, because their fields are not in the CRD. */
const isText = (value: unknown): value is string => typeof value === 'string'

const toLine = ({ id, at, lastRetryAt = '-', gateway, names }: Reservation): string =>
  `${id} ${at} ${lastRetryAt} ${gateway} ${names.join(',')}`

function readLine(line: string): Reservation | undefined {
  const [id, at, lastRetryAt, gateway, names] = line.split(' ')
  if (!id || !at || !gateway || !names) return undefined
  return { id, names: names.split(','), gateway, at, ...(lastRetryAt === '-' ? {} : { lastRetryAt }) }
}

function readWindow(text: string): Window {
  const buckets = text.split(' ').map((bucket) => bucket.split('=').map(Number))
  return buckets.flatMap(([second, count]) => (Number.isInteger(second) && Number.isInteger(count) ? [{ second, count } as Window[0]] : []))
}
