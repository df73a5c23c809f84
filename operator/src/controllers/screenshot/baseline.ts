// Finds the picture that a Screenshot is compared with. The key derives from the record of `compareTo` in the same account, or, for the runs of a
// schedule, from `spec.baseline`, which only the operator may set.

import { screenshotIdOf } from '@tintype/crds/identifiers/ids'
import { toObjectName } from '@tintype/crds/identifiers/names'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { findBaselineProblem, type StoredBaseline, toBaseline } from '@tintype/crds/records/baseline'
import { accountOf } from '@tintype/crds/records/record'
import { baselinesPrefix } from '@tintype/crds/records/storage-keys'
import { findArchived } from '@tintype/crds/storage/archive/records'
import { OptionsError } from '../../options/options-error.ts'
import type { ScreenshotContext } from './context.ts'

type BaselineContext = Pick<ScreenshotContext, 'namespace' | 'now'> & {
  reflectors: Pick<ScreenshotContext['reflectors'], 'screenshots'>
  storage: Pick<ScreenshotContext['storage'], 'readText' | 'exists'>
  report: ScreenshotContext['optionsSources']['report']
}

/**
 * Finds the picture to compare with.
 * @throws OptionsError BASELINE_NOT_FOUND; RetryableError if the store is unavailable
 */
export async function findBaseline(shot: Screenshot, compareTo: string, context: BaselineContext): Promise<StoredBaseline> {
  const { options, baseline } = shot.spec
  const account = accountOf(shot)
  if (baseline) {
    const keys = [baseline.key, ...(baseline.text ? [baseline.text.key] : [])]
    if (keys.every((key) => key.startsWith(baselinesPrefix(account)))) return baseline
    throw new OptionsError('spec.baseline names an object of another account', 'BASELINE_NOT_FOUND')
  }
  const found = findLive(account, compareTo, context) ?? (await findArchived(account, compareTo, context))
  const problem = found ? findBaselineProblem(found, options?.compareAcceptStatus) : { message: 'does not exist in this account' }
  if (!found || problem) throw new OptionsError(`compare_to: ${compareTo} ${problem?.message}`, 'BASELINE_NOT_FOUND')
  return toBaseline(found)
}

function findLive(account: string, id: string, { reflectors, namespace }: BaselineContext): Screenshot | undefined {
  const { lister } = reflectors.screenshots
  const isWanted = (shot: Screenshot): boolean => accountOf(shot) === account && screenshotIdOf(shot.metadata) === id
  const named = lister.get(`${namespace}/${toObjectName(id)}`)
  return named && isWanted(named) ? named : lister.list().find(isWanted)
}
