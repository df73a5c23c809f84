/** `npm run bench` measures, and `npm run soak` runs tests that take too long for every test run. Both run scenarios, and print results as they are made. */
import { SCENARIOS } from './all.ts'
import { runCommand } from './harness/run.ts'

const [command = '', ...args] = process.argv.slice(2)
if (command !== 'bench' && command !== 'soak') throw new Error(`unknown command: ${command}. Use npm run bench or npm run soak.`)
process.exit(await runCommand(command, args, SCENARIOS[command]))
