import type { CelRule, NameLimits } from './custom-resource.ts'

// Names of objects. Kubernetes allows at most 253 lower-case letters, digits, `-` and `.`. Some kinds allow less, because other names are derived
// from the name. docs/gitops.md lists the limits with their reasons.

interface Named {
  kind: string
  names?: NameLimits
}

const ofKind = (kind: string): string => `the name of ${/^[AEIOU]/.test(kind) ? 'an' : 'a'} ${kind}`

const limitsOf = ({ kind, names }: Named): { rule: string; message: string; holds: (name: string) => boolean }[] => {
  if (!names) return []
  const { maxLength, isLabel = false } = names
  return [
    {
      rule: `self.metadata.name.size() <= ${maxLength}`,
      message: `${ofKind(kind)} must be at most ${maxLength} characters: use a shorter name`,
      holds: (name) => name.length <= maxLength,
    },
    ...(isLabel
      ? [
          {
            rule: '!self.metadata.name.contains(".")',
            message: `${ofKind(kind)} must not contain dots: use lower-case letters, digits and -`,
            holds: (name: string) => !name.includes('.'),
          },
        ]
      : []),
  ]
}

/**
 * Rules on the root of a kind. They refuse only the creation of an object: one that exists must stay writable, or nobody could remove its
 * finalizers or write its status.
 */
export const nameRules = (definition: Named): CelRule[] =>
  limitsOf(definition).map(({ rule, message }) => ({ rule: `oldSelf.hasValue() || ${rule}`, optionalOldSelf: true, message }))

/** What is wrong with the name of an object that was created before the rules; undefined: nothing. */
export const findNameProblem = (definition: Named, name: string): string | undefined =>
  limitsOf(definition).find(({ holds }) => !holds(name))?.message
