// The whole model: every module imports it from here.
export * from './address.js';
export * from './age.js';
export * from './attribute.js';
export * from './defined.js';
export * from './drift-document.js';
export * from './names/camel-case.js';
export * from './cloud.js';
export * from './collection.js';
export * from './declaration.js';
export * from './diagnostic.js';
export * from './plan-document.js';
export * from './fleet-document.js';
export * from './duration.js';
export * from './event.js';
export * from './exact-numbers.js';
export * from './exit-codes.js';
export * from './value-checks.js';
export * from './json.js';
export * from './kind.js';
export * from './concurrency-limit.js';
export * from './names/construct-comments.js';
export * from './members.js';
export * from './masking/secret-masking.js';
export * from './masking/masked-text.js';
export * from './partial-documents.js';
export * from './did-you-mean.js';
export * from './normalize.js';
export * from './object-label.js';
export * from './plan.js';
export * from './provider.js';
export * from './refactoring.js';
<<<<<<< HEAD
export * from './names/terraform-names.js';
=======
export * from './provider-function.js';
export * from './terraform-names.js';
>>>>>>> tf
export * from './secret-names.js';
export * from './secret.js';
export * from './shell.js';
export * from './state.js';
export * from './url.js';
export * from './masking/word-finder.js';
