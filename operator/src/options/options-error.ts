/** Options that no attempt can use. `message` is for the client and quotes nothing of them. */
export class OptionsError extends Error {
  override readonly name = 'OptionsError'
}
