import type { AccountUsageStatus, Reservation, StoredUsageStatus } from '../kinds/account-usage.ts'

// Between what programs see of an AccountUsage and what the API server keeps of it. What nobody of ours can have written is passed over.

type Window = NonNullable<AccountUsageStatus['window']>

/** As the API server keeps it. */
export function toStoredStatus<T extends Partial<AccountUsageStatus>>({ window, reservations, ...rest }: T) {
  return {
    ...rest,
    ...(window === undefined ? {} : { window: window.map(({ second, count }) => `${second}=${count}`).join(' ') }),
    ...(reservations === undefined ? {} : { reservations: reservations.map(toLine) }),
  }
}

/** As programs see it. */
export function readStoredStatus({ window, reservations, ...rest }: StoredUsageStatus): AccountUsageStatus {
  return {
    ...rest,
    ...(window === undefined ? {} : { window: isText(window) ? readWindow(window) : [] }),
    ...(reservations === undefined ? {} : { reservations: reservations.filter(isText).flatMap((line) => readLine(line) ?? []) }),
  }
}

/** Once both were lists of objects, of which the API server gives nothing but the hulls: their fields are in the definition no more. */
const isText = (value: unknown): value is string => typeof value === 'string'

const toLine = ({ id, at, askedAgain = '-', gateway, names }: Reservation): string =>
  `${id} ${at} ${askedAgain} ${gateway} ${names.join(',')}`

function readLine(line: string): Reservation | undefined {
  const [id, at, askedAgain, gateway, names] = line.split(' ')
  if (!id || !at || !gateway || !names) return undefined
  return { id, names: names.split(','), gateway, at, ...(askedAgain === '-' ? {} : { askedAgain }) }
}

function readWindow(text: string): Window {
  const buckets = text.split(' ').map((bucket) => bucket.split('=').map(Number))
  return buckets.flatMap(([second, count]) => (Number.isInteger(second) && Number.isInteger(count) ? [{ second, count } as Window[0]] : []))
}
