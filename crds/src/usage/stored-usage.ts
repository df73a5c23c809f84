import type { AccountUsageStatus, Reservation, StoredUsageStatus } from '../kinds/account.ts'
import { readDays, writeDays } from './usage.ts'

// Converts the status of an AccountUsage between the form in the programs and the stored form. Ignores entries that Tintype cannot have written.

type Window = NonNullable<AccountUsageStatus['window']>

/** Converts to the stored form. */
export function toStoredStatus<T extends Partial<AccountUsageStatus>>({ window, reservations, days, ...rest }: T) {
  return {
    ...rest,
    ...(window === undefined ? {} : { window: window.map(({ second, count }) => `${second}=${count}`).join(' ') }),
    ...(reservations === undefined ? {} : { reservations: reservations.map(toLine) }),
    ...(days === undefined ? {} : { days: writeDays(days) }),
  }
}

/** Converts from the stored form. */
export function readStoredStatus({ window, reservations, days, ...rest }: StoredUsageStatus): AccountUsageStatus {
  return {
    ...rest,
    ...(window === undefined ? {} : { window: readWindow(window) }),
    ...(reservations === undefined ? {} : { reservations: reservations.flatMap((line) => readLine(line) ?? []) }),
    ...(days === undefined ? {} : { days: readDays(days) }),
  }
}

const toLine = ({ id, at, lastRetryAt = '-', gateway, names, units = 1 }: Reservation): string =>
  `${id} ${at} ${lastRetryAt} ${gateway} ${names.map((name) => (units === 1 ? name : `${name}*${units}`)).join(',')}`

function readLine(line: string): Reservation | undefined {
  const [id, at, lastRetryAt, gateway, list] = line.split(' ')
  const held = list === undefined ? undefined : readNames(list)
  if (!id || !at || !gateway || !held) return undefined
  return { id, ...held, gateway, at, ...(lastRetryAt === '-' ? {} : { lastRetryAt }) }
}

const MAX_UNITS = 1_000

/** Reads names with their units, which are the same for all. A name without units costs 1. */
function readNames(list: string): Pick<Reservation, 'names' | 'units'> | undefined {
  const entries = list.split(',').map((entry) => entry.split('*'))
  const costs = new Set(entries.map(([, units = '1']) => units))
  const [units] = [...costs].map(Number)
  const isLegal = costs.size === 1 && units !== undefined && Number.isInteger(units) && units >= 1 && units <= MAX_UNITS
  if (!isLegal || entries.some(([name, ...rest]) => !name || rest.length > 1)) return undefined
  return { names: entries.map(([name = '']) => name), ...(units === 1 ? {} : { units }) }
}

function readWindow(text: string): Window {
  const buckets = text.split(' ').map((bucket) => bucket.split('=').map(Number))
  return buckets.flatMap(([second, count]) => (Number.isInteger(second) && Number.isInteger(count) ? [{ second, count } as Window[0]] : []))
}
