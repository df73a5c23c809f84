import { z } from 'zod'
import type { QueryParameter } from './query.ts'

// Builders for query parameters. A parameter without `required` and without `fallback` is undefined when it is absent.

type Declared<Value> = Omit<QueryParameter<Value>, 'fallback' | 'required'>
type Absence<Value> = { required: true } | { fallback: Value }
type Documentation = Pick<QueryParameter<unknown>, 'description' | 'example'>

/** Declares a query parameter. */
export function queryParameter<Value>(declared: Declared<Value> & Absence<Value>): QueryParameter<Value>
export function queryParameter<Value>(declared: Declared<Value>): QueryParameter<Value | undefined>
export function queryParameter<Value>(declared: Declared<Value>): QueryParameter<Value | undefined> {
  return { fallback: undefined, ...declared }
}

const DIGITS = /^\d+$/

interface Bounds extends Documentation {
  minimum: number
  maximum: number
  /** Replaces `a whole number from … to …` in the error message. */
  expected?: string
}

/** A whole number in decimal digits. */
export function wholeNumber(declared: Bounds & Absence<number>): QueryParameter<number>
export function wholeNumber(declared: Bounds): QueryParameter<number | undefined>
export function wholeNumber({ minimum, maximum, ...declared }: Bounds): QueryParameter<number | undefined> {
  return queryParameter({
    expected: `a whole number from ${minimum} to ${maximum}`,
    ...declared,
    schema: z.int().min(minimum).max(maximum),
    parse: (text) => {
      const isShort = DIGITS.test(text) && text.length <= String(maximum).length
      return isShort && Number(text) >= minimum && Number(text) <= maximum ? Number(text) : undefined
    },
  })
}

interface Choice<Value extends string> extends Documentation {
  values: readonly Value[]
  /** Replaces `… or …` in the error message. */
  expected?: string
}

/** One of several values. */
export function oneOf<const Value extends string>(declared: Choice<Value> & Absence<NoInfer<Value>>): QueryParameter<Value>
export function oneOf<const Value extends string>(declared: Choice<Value>): QueryParameter<Value | undefined>
export function oneOf<const Value extends string>({ values, ...declared }: Choice<Value>): QueryParameter<Value | undefined> {
  return queryParameter({
    expected: values.join(' or '),
    ...declared,
    schema: z.enum(values),
    parse: (text) => values.find((value) => value === text),
  })
}

/** One or more of several values, separated by commas. */
export const listOf = <const Value extends string>({ values, ...declared }: Choice<Value>): QueryParameter<readonly Value[] | undefined> =>
  queryParameter<readonly Value[]>({
    expected: `a list of ${values.join(', ')}`,
    ...declared,
    schema: z.array(z.enum(values)).min(1),
    explode: false,
    parse: (text) => {
      const given = text.split(',')
      return given.every((one): one is Value => values.some((value) => value === one)) ? given : undefined
    },
  })
