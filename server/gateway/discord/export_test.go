package discord

// Patience is how long a connection may take to be made.
const Patience = patience
