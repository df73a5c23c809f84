import type { PageFunctions } from '../../../src/page/functions.ts'
import { read, write } from '../shared/dom.ts'
import { isSecret } from '../shared/fields.ts'
import { recall, remember } from '../shared/state.ts'
import { findMatches } from '../shared/tree.ts'

/** Takes the passwords out of all fields until they are returned. No event tells the page. */
export const takePasswords: PageFunctions['takePasswords'] = () => {
  const taken = recall('tintypePasswords') ?? remember('tintypePasswords', new Map())
  const fields = findMatches('input, textarea').filter(isSecret) as HTMLInputElement[]
  for (const field of fields) {
    const [value, defaultValue] = [read(field, 'value'), read(field, 'defaultValue')]
    if (value === '' && defaultValue === '') continue
    taken.set(field, { value, defaultValue })
    write(field, 'value', '')
    if (defaultValue !== '') write(field, 'defaultValue', '')
  }
}

/** A field in which a script has written meanwhile keeps what it has. */
export const returnPasswords: PageFunctions['returnPasswords'] = () => {
  for (const [field, { value, defaultValue }] of recall('tintypePasswords') ?? []) {
    if (defaultValue !== '') write(field, 'defaultValue', defaultValue)
    if (read(field, 'value') === '') write(field, 'value', value)
  }
  recall('tintypePasswords')?.clear()
}
