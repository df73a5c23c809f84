import { argumentsOf, treeOf } from '../../../../capture-runner/src/runtime/processes.ts'

/** Process ids of the renderers below this process. */
export const ownRenderers = (): number[] => treeOf(process.pid).filter((pid) => argumentsOf(pid).includes('--type=renderer'))
