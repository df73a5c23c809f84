import type { z } from 'zod'
import type { Problem } from '../errors.ts'
import { findNearestName } from './nearest-name.ts'

/** `['options', 'wait_until', 0]` → `options.wait_until[0]`. */
export const toPath = (segments: readonly PropertyKey[]): string =>
  segments.reduce<string>((path, segment) => {
    if (typeof segment === 'number') return `${path}[${segment}]`
    return path === '' ? String(segment) : `${path}.${String(segment)}`
  }, '')

/** What is known where: paths of objects (`''`, `options`) and the names that they may have. */
export type KnownNames = Readonly<Record<string, readonly string[]>>

const MAX_NAME = 64

/** A name that is not known, with the one that was probably meant, here or in another object. */
export function unknownName(place: string, name: string, known: KnownNames): Problem {
  const shown = name.slice(0, MAX_NAME)
  const here = findNearestName(name, known[place] ?? [])
  const elsewhere = Object.entries(known)
    .filter(([other]) => other !== place)
    .flatMap(([other, names]) => names.map((candidate) => (other === '' ? candidate : `${other}.${candidate}`)))
    .find((candidate) => candidate.split('.').at(-1) === name)
  const meant = elsewhere ?? here
  const message = meant === undefined ? `${shown} is not known here` : `${shown} is not known here; did you mean ${meant}?`
  return { path: toPath([...(place === '' ? [] : [place]), shown]), code: 'unknown_field', message }
}

type Issue = z.core.$ZodIssue

const nameOf = (path: string): string => (path === '' ? 'the body' : path)
const typeName = (expected: string): string => (expected === 'int' ? 'a whole number' : `of type ${expected}`)

/** A sentence for a person: which field, and what it must be. The value itself is not repeated. */
function messageOf(issue: Issue, path: string): string {
  const name = nameOf(path)
  switch (issue.code) {
    case 'invalid_type':
      return `${name} must be ${typeName(issue.expected)}`
    case 'too_big':
      return `${name} must be at most ${issue.maximum}${unitOf(issue.origin)}`
    case 'too_small':
      return `${name} must be at least ${issue.minimum}${unitOf(issue.origin)}`
    case 'invalid_value':
      return `${name} must be one of ${issue.values.map((value) => JSON.stringify(value)).join(', ')}`
    default:
      return `${name}: ${issue.message}`
  }
}

const unitOf = (origin: string): string => (origin === 'string' ? ' characters long' : origin === 'array' ? ' items long' : '')

/** Every fault that a schema found, as the wire tells it. */
export const toProblems = (issues: readonly Issue[], known: KnownNames): Problem[] =>
  issues.flatMap((issue): Problem[] => {
    const path = toPath(issue.path)
    if (issue.code === 'unrecognized_keys') return issue.keys.map((name) => unknownName(path, name, known))
    return [{ path, code: issue.code, message: messageOf(issue, path) }]
  })
