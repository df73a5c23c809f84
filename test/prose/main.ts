// Part of `npm run verify`: checks README, CHANGELOG, docs, the comments and messages of the programs, and the titles of tests, against the style in docs/.vale. With --all it also prints suggestions.
import { formatFailure } from '../cluster/host/steps.ts'
import { checkRepository } from './messages.ts'
import { buildVale } from './vale.ts'

try {
  await buildVale()
} catch (error) {
  console.error(formatFailure(error))
  process.exit(1)
}
const minimum = process.argv.includes('--all') ? 'suggestion' : 'error'
const results = await checkRepository(minimum)
for (const { output } of results) process.stdout.write(output)
process.exit(results.every(({ isGood }) => isGood) ? 0 : 1)
