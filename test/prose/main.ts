// Part of `npm run verify`: checks README, CHANGELOG and docs against the style in docs/.vale. With --all it also prints suggestions.
import { formatFailure } from '../cluster/host/steps.ts'
import { checkedFiles, checkProse } from './check.ts'
import { buildVale } from './vale.ts'

try {
  await buildVale()
} catch (error) {
  console.error(formatFailure(error))
  process.exit(1)
}
const { isGood, output } = await checkProse(checkedFiles, process.argv.includes('--all') ? 'suggestion' : 'error')
process.stdout.write(output)
process.exit(isGood ? 0 : 1)
